variable "name" { type = string }
variable "cluster_name" { type = string }
variable "instance_type" { type = string }
variable "subnet_ids" { type = list(string) }
variable "security_groups" { type = list(string) }
variable "instance_profile" { type = string }
variable "max_size" { type = number }
variable "root_volume_gib" {
  type    = number
  default = 200
}

data "aws_ssm_parameter" "gpu_ami" {
  name = "/aws/service/ecs/optimized-ami/amazon-linux-2023/gpu/recommended/image_id"
}

locals {
  user_data = <<-EOT
    #!/bin/bash
    cat >> /etc/ecs/ecs.config <<'EOF'
    ECS_CLUSTER=${var.cluster_name}
    ECS_ENABLE_GPU_SUPPORT=true
    ECS_CONTAINER_STOP_TIMEOUT=100s
    ECS_IMAGE_PULL_BEHAVIOR=prefer-cached
    EOF
    mkfs.xfs /dev/nvme1n1
    mkdir -p /mnt/nvme
    mount /dev/nvme1n1 /mnt/nvme
    mkdir -p /mnt/nvme/models
  EOT
}

resource "aws_launch_template" "this" {
  name_prefix            = "${var.name}-"
  image_id               = data.aws_ssm_parameter.gpu_ami.value
  instance_type          = var.instance_type
  user_data              = base64encode(local.user_data)
  vpc_security_group_ids = var.security_groups
  update_default_version = true

  iam_instance_profile {
    arn = var.instance_profile
  }

  metadata_options {
    http_tokens                 = "required"
    http_put_response_hop_limit = 1
  }

  monitoring {
    enabled = true
  }

  block_device_mappings {
    device_name = "/dev/xvda"
    ebs {
      volume_size = var.root_volume_gib
      volume_type = "gp3"
      encrypted   = true
    }
  }

  tag_specifications {
    resource_type = "instance"
    tags          = { Name = var.name }
  }
}

resource "aws_autoscaling_group" "this" {
  name_prefix           = "${var.name}-"
  min_size              = 0
  max_size              = var.max_size
  vpc_zone_identifier   = var.subnet_ids
  protect_from_scale_in = true

  launch_template {
    id      = aws_launch_template.this.id
    version = aws_launch_template.this.latest_version
  }

  tag {
    key                 = "AmazonECSManaged"
    value               = ""
    propagate_at_launch = true
  }

  lifecycle {
    create_before_destroy = true
    ignore_changes        = [desired_capacity]
  }
}

resource "aws_ecs_capacity_provider" "this" {
  name = var.name

  auto_scaling_group_provider {
    auto_scaling_group_arn         = aws_autoscaling_group.this.arn
    managed_termination_protection = "ENABLED"
    managed_draining               = "ENABLED"

    managed_scaling {
      status                    = "ENABLED"
      target_capacity           = 100
      instance_warmup_period    = 300
      maximum_scaling_step_size = 2
    }
  }
}

output "capacity_provider_name" {
  value = aws_ecs_capacity_provider.this.name
}
