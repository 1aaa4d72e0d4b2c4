# The public registry modules for scaling groups and ECS.

locals {
  name = "render"
  tags = { team = "graphics" }
}

variable "private_subnets" { type = list(string) }
variable "render_image" { type = string }

data "aws_ssm_parameter" "gpu" {
  name = "/aws/service/ecs/optimized-ami/amazon-linux-2023/gpu/recommended"
}

module "autoscaling" {
  source  = "terraform-aws-modules/autoscaling/aws"
  version = "~> 9.0"

  name          = "${local.name}-g6"
  image_id      = jsondecode(data.aws_ssm_parameter.gpu.value)["image_id"]
  instance_type = "g6.4xlarge"
  user_data     = base64encode("#!/bin/bash\necho ECS_CLUSTER=${local.name} >> /etc/ecs/ecs.config\n")

  min_size              = 0
  max_size              = 5
  desired_capacity      = 0
  vpc_zone_identifier   = var.private_subnets
  protect_from_scale_in = true

  metadata_options = {
    http_tokens = "required"
  }

  block_device_mappings = [{
    device_name = "/dev/xvda"
    ebs = {
      encrypted   = true
      volume_size = 150
      volume_type = "gp3"
    }
  }]

  tags = local.tags
}

module "ecs" {
  source  = "terraform-aws-modules/ecs/aws"
  version = "~> 6.0"

  cluster_name = local.name

  autoscaling_capacity_providers = {
    g6 = {
      auto_scaling_group_arn         = module.autoscaling.autoscaling_group_arn
      managed_termination_protection = "ENABLED"
      managed_scaling = {
        status          = "ENABLED"
        target_capacity = 100
      }
    }
  }

  tags = local.tags
}

resource "aws_cloudwatch_log_group" "render" {
  name              = "/ecs/${local.name}"
  retention_in_days = 7
}

resource "aws_ecs_task_definition" "render" {
  family                   = local.name
  requires_compatibilities = ["EC2"]
  network_mode             = "bridge"
  task_role_arn            = "arn:aws:iam::111122223333:role/render-task"
  execution_role_arn       = "arn:aws:iam::111122223333:role/render-exec"

  container_definitions = jsonencode([{
    name                 = "render"
    image                = var.render_image
    essential            = true
    cpu                  = 14336
    memory               = 57344
    command              = ["render-worker", "--queue", "frames"]
    resourceRequirements = [{ type = "GPU", value = "1" }]
    linuxParameters      = { initProcessEnabled = true, sharedMemorySize = 4096 }
    stopTimeout          = 60
    logConfiguration = {
      logDriver = "awslogs"
      options = {
        "awslogs-group"         = aws_cloudwatch_log_group.render.name
        "awslogs-region"        = "eu-central-1"
        "awslogs-stream-prefix" = "render"
      }
    }
  }])
}
