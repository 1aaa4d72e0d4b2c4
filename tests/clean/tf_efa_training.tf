# Four p4d hosts for data-parallel training, in one zone, with EFA on every card.

variable "vpc_id" { type = string }
variable "cluster" { type = string }
variable "subnet_id" { type = string }
variable "trainer_image" { type = string }
variable "task_role_arn" { type = string }
variable "execution_role_arn" { type = string }
variable "instance_profile_arn" { type = string }
variable "region" {
  type    = string
  default = "us-east-1"
}

locals {
  efa_cards = 4
  nodes     = 4
}

data "aws_ssm_parameter" "gpu" {
  name = "/aws/service/ecs/optimized-ami/amazon-linux-2023/gpu/recommended"
}

resource "aws_placement_group" "train" {
  name     = "train-p4d"
  strategy = "cluster"
}

resource "aws_security_group" "fabric" {
  name        = "train-fabric"
  description = "EFA between the nodes of a run"
  vpc_id      = var.vpc_id
}

resource "aws_vpc_security_group_ingress_rule" "fabric" {
  security_group_id            = aws_security_group.fabric.id
  referenced_security_group_id = aws_security_group.fabric.id
  ip_protocol                  = "-1"
}

resource "aws_vpc_security_group_egress_rule" "fabric" {
  security_group_id            = aws_security_group.fabric.id
  referenced_security_group_id = aws_security_group.fabric.id
  ip_protocol                  = "-1"
}

resource "aws_vpc_security_group_egress_rule" "https" {
  security_group_id = aws_security_group.fabric.id
  cidr_ipv4         = "0.0.0.0/0"
  from_port         = 443
  to_port           = 443
  ip_protocol       = "tcp"
}

resource "aws_launch_template" "train" {
  name_prefix   = "train-p4d-"
  image_id      = jsondecode(data.aws_ssm_parameter.gpu.value)["image_id"]
  instance_type = "p4d.24xlarge"
  user_data = base64encode(<<-EOF
    #!/bin/bash
    echo "ECS_CLUSTER=${var.cluster}" >> /etc/ecs/ecs.config
    echo "ECS_ENABLE_GPU_SUPPORT=true" >> /etc/ecs/ecs.config
    echo "ECS_RESERVED_MEMORY=4096" >> /etc/ecs/ecs.config
    mdadm --create /dev/md0 --level=0 --raid-devices=8 /dev/nvme[1-8]n1
    mkfs.xfs /dev/md0
    mkdir -p /scratch
    mount /dev/md0 /scratch
  EOF
  )

  iam_instance_profile {
    arn = var.instance_profile_arn
  }

  dynamic "network_interfaces" {
    for_each = range(local.efa_cards)
    content {
      network_card_index = network_interfaces.value
      device_index       = network_interfaces.value == 0 ? 0 : 1
      interface_type     = "efa"
      security_groups    = [aws_security_group.fabric.id]
      subnet_id          = var.subnet_id
    }
  }

  metadata_options {
    http_tokens                 = "required"
    http_put_response_hop_limit = 1
  }

  block_device_mappings {
    device_name = "/dev/xvda"
    ebs {
      volume_size = 500
      volume_type = "gp3"
      encrypted   = true
    }
  }
}

resource "aws_autoscaling_group" "train" {
  name                  = "train-p4d"
  min_size              = 0
  max_size              = local.nodes
  placement_group       = aws_placement_group.train.name
  vpc_zone_identifier   = [var.subnet_id]
  protect_from_scale_in = true

  launch_template {
    id      = aws_launch_template.train.id
    version = "$Latest"
  }
}

resource "aws_ecs_capacity_provider" "train" {
  name = "train-p4d"
  auto_scaling_group_provider {
    auto_scaling_group_arn         = aws_autoscaling_group.train.arn
    managed_termination_protection = "ENABLED"
    managed_scaling {
      status = "ENABLED"
    }
  }
}

resource "aws_cloudwatch_log_group" "train" {
  name              = "/ecs/train"
  retention_in_days = 90
}

resource "aws_ecs_task_definition" "train" {
  family                   = "train-p4d"
  requires_compatibilities = ["EC2"]
  network_mode             = "host"
  task_role_arn            = var.task_role_arn
  execution_role_arn       = var.execution_role_arn

  placement_constraints {
    type       = "memberOf"
    expression = "attribute:ecs.instance-type == p4d.24xlarge"
  }

  volume {
    name      = "scratch"
    host_path = "/scratch"
  }

  container_definitions = jsonencode([{
    name       = "trainer"
    image      = var.trainer_image
    essential  = true
    cpu        = 94208
    memory     = 1105920
    entryPoint = ["sh", "-c"]
    command = [
      "exec torchrun --nnodes $NNODES --nproc-per-node 8 --node-rank $NODE_RANK --master-addr $MASTER_ADDR --master-port 29500 --shutdown-timeout 100 train.py --checkpoint-dir s3://example-runs/p4d"
    ]
    resourceRequirements = [{ type = "GPU", value = "8" }]
    environment = [
      { name = "NNODES", value = tostring(local.nodes) },
      { name = "FI_PROVIDER", value = "efa" },
      { name = "NCCL_SOCKET_IFNAME", value = "en" },
      { name = "NCCL_DEBUG", value = "WARN" },
      { name = "TORCH_NCCL_ASYNC_ERROR_HANDLING", value = "1" },
    ]
    linuxParameters = {
      sharedMemorySize = 65536
      devices = [for n in range(local.efa_cards) : {
        hostPath      = "/dev/infiniband/uverbs${n}"
        containerPath = "/dev/infiniband/uverbs${n}"
        permissions   = ["read", "write", "mknod"]
      }]
    }
    ulimits     = [{ name = "memlock", softLimit = -1, hardLimit = -1 }]
    mountPoints = [{ sourceVolume = "scratch", containerPath = "/scratch" }]
    stopTimeout = 115
    logConfiguration = {
      logDriver = "awslogs"
      options = {
        "awslogs-group"         = aws_cloudwatch_log_group.train.name
        "awslogs-region"        = var.region
        "awslogs-stream-prefix" = "train"
      }
    }
  }])
}
